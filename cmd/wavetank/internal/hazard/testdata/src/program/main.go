// Command program is what runs in production alone.
package main

import "net/http"

func main() { _ = &http.Client{Transport: &http.Transport{}} }
