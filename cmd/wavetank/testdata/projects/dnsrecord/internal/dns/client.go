// Package dns talks to the provider of DNS records.
package dns

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Client is a client of the provider's API.
type Client struct {
	BaseURL string
	HTTP    *http.Client
}

// Record is a record at the provider.
type Record struct {
	ID      string `json:"id,omitempty"`
	Host    string `json:"host"`
	Address string `json:"address"`
}

// Create makes a record, and returns the ID that the provider gave it.
func (c *Client) Create(ctx context.Context, r Record) (string, error) {
	var made Record
	err := c.do(ctx, http.MethodPost, "/records", r, &made)
	return made.ID, err
}

// Update changes the address of a record.
func (c *Client) Update(ctx context.Context, r Record) error {
	return c.do(ctx, http.MethodPut, "/records/"+url.PathEscape(r.ID), r, nil)
}

// Delete removes a record. One that is gone is no error.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/records/"+url.PathEscape(id), nil, nil)
}

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case method == http.MethodDelete && resp.StatusCode == http.StatusNotFound:
		return nil
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	case into != nil:
		return json.NewDecoder(resp.Body).Decode(into)
	}
	return nil
}
