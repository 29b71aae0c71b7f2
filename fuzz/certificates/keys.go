package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The sizes of RSA keys are small because making them takes long: about 20 and 8 ms. After 10 ms
// Go's runtime lets another goroutine run.
const authorityBits, tokenBits = 1024, 768

// newAuthority makes the key of an authority and a certificate that it signs itself.
func newAuthority() (*corev1.Secret, error) {
	key, err := rsa.GenerateKey(rand.Reader, authorityBits)
	if err != nil {
		return nil, err
	}
	template := certificate("authority")
	template.IsCA, template.KeyUsage, template.BasicConstraintsValid = true, x509.KeyUsageCertSign, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return secretOf(issuer, key, der)
}

// issue makes a certificate for a host that the authority signs, and keys of both sorts: ECDSA for
// TLS, and RSA for tokens.
func issue(authority *corev1.Secret, name, host string) (*corev1.Secret, error) {
	ca, err := x509.ParseCertificate(decode(authority.Data[corev1.TLSCertKey]))
	if err != nil {
		return nil, err
	}
	signer, err := x509.ParsePKCS8PrivateKey(decode(authority.Data[corev1.TLSPrivateKeyKey]))
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate(host)
	template.DNSNames = []string{host}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128)); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	s, err := secretOf(name, key, der)
	if err != nil {
		return nil, err
	}
	s.Annotations = map[string]string{"host": host}
	for i, key := range tokenKeys(2) {
		s.Data["token-"+string(rune('a'+i))+".pub"] = x509.MarshalPKCS1PublicKey(&key.PublicKey)
	}
	s.Annotations[hashAnnotation] = hashOf(s)
	return s, nil
}

// tokenKeys makes several RSA keys, each on a goroutine of its own.
func tokenKeys(n int) []*rsa.PrivateKey {
	keys := make([]*rsa.PrivateKey, n)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { keys[i], _ = rsa.GenerateKey(rand.Reader, tokenBits) })
	}
	wg.Wait()
	return keys
}

// certificate is a template without a serial number, for which CreateCertificate chooses one.
func certificate(name string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotBefore: time.Now(),
		NotAfter: time.Now().Add(90 * 24 * time.Hour)}
}

func secretOf(name string, key crypto.Signer, der []byte) (*corev1.Secret, error) {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		}}, nil
}

func decode(data []byte) []byte {
	b, _ := pem.Decode(data)
	return b.Bytes
}
