// A tailnet in one process, for tests on one machine: coordination server, DERP relay and STUN
// server, all from Tailscale's own module. Every node is let in, nothing is stored.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"

	"tailscale.com/derp/derpserver"
	"tailscale.com/net/stunserver"
	"tailscale.com/tailcfg"
	"tailscale.com/tstest/integration/testcontrol"
	"tailscale.com/types/key"
)

const (
	controlPort = 8080
	derpPort    = 8443
	stunPort    = 3478
)

func main() {
	ip := flag.String("ip", "127.0.0.1", "address to listen on, which nodes are told")
	flag.Parse()
	at := func(port int) string { return net.JoinHostPort(*ip, strconv.Itoa(port)) }

	go func() { log.Fatal(stunserver.New(context.Background()).ListenAndServe(at(stunPort))) }()
	if err := serveRelay(at(derpPort)); err != nil {
		log.Fatal(err)
	}
	control := &testcontrol.Server{
		ExplicitBaseURL:  "http://" + at(controlPort),
		AllOnline:        true,
		AllNodesSameUser: true,
		DERPMap:          derpMap(*ip),
	}
	log.Fatal(http.ListenAndServe(at(controlPort), control))
}

// serveRelay starts the DERP relay, with a certificate that nodes do not check.
func serveRelay(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/derp", derpserver.Handler(derpserver.New(key.NewNode(), log.Printf)))
	mux.HandleFunc("/derp/probe", derpserver.ProbeHandler)
	mux.HandleFunc("/derp/latency-check", derpserver.ProbeHandler)
	mux.HandleFunc("/generate_204", derpserver.ServeNoContent)
	relay := httptest.NewUnstartedServer(mux)
	relay.Listener.Close()
	relay.Listener = listener
	// The relay takes the connection over, which HTTP/2 does not permit.
	relay.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	relay.StartTLS()
	return nil
}

// derpMap has one region, "test", with the relay and the STUN server at an address.
func derpMap(ip string) *tailcfg.DERPMap {
	node := &tailcfg.DERPNode{
		Name: "t1", RegionID: 1, HostName: ip, IPv4: ip, IPv6: "none",
		STUNPort: stunPort, STUNTestIP: ip, DERPPort: derpPort, InsecureForTests: true,
	}
	region := &tailcfg.DERPRegion{
		RegionID: 1, RegionCode: "test", RegionName: "Test", Nodes: []*tailcfg.DERPNode{node},
	}
	return &tailcfg.DERPMap{
		OmitDefaultRegions: true,
		Regions:            map[int]*tailcfg.DERPRegion{1: region},
	}
}
