// Package reports renders what runs left behind: pages over stories, for people.
//
// It reads story files and histories and nothing else; it runs nothing and decides nothing.
package reports
