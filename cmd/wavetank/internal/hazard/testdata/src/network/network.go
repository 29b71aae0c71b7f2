package network

import (
	"context"
	"net"
	"net/http"
	"time"
)

var shared = &http.Client{Transport: &http.Transport{MaxIdleConns: 3}} // want `http.Transport{} reaches the real network`

var several = []*http.Transport{{}} // want `http.Transport{} reaches the real network`

func client() *http.Client {
	var t http.Transport // a zero value may be there to be set
	_ = &t
	_ = new(http.Transport)                   // want `http.Transport{} reaches the real network`
	d := net.Dialer{Timeout: 5 * time.Second} // want `net.Dialer{} reaches the real network`
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
}

// in memory, nothing is dialled.
func pipe(conn net.Conn) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
}

func given(c *http.Client) *http.Client {
	return &http.Client{Transport: c.Transport, Timeout: time.Second}
}
