// The two scenarios of the speed benchmark in ns-3: one TCP flow from server to client over
// 24 ms, for 12 s of simulated time (2 s of them warm-up).
//
//   dumbbell bbr 100Mbps 0.01      BBR, 1 % random loss
//   dumbbell cubic 1Gbps 0         CUBIC
//
// Prints one line of JSON: goodput over the last 10 s, events are not traced.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    if (argc != 4)
    {
        std::cerr << "usage: dumbbell bbr|cubic RATE LOSS" << std::endl;
        return 2;
    }
    const std::string cc = argv[1];
    const DataRate rate{argv[2]};
    const double loss = std::stod(argv[3]);
    const Time oneWay = MilliSeconds(12);
    const double bdp = rate.GetBitRate() * 2 * oneWay.GetSeconds() / 8;

    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(cc == "bbr" ? "ns3::TcpBbr"
                                                                    : "ns3::TcpCubic")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 * bdp + 6000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 * bdp + 6000000));

    NodeContainer nodes;
    nodes.Create(3); // server, router, client
    PointToPointHelper fast;
    fast.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    fast.SetChannelAttribute("Delay", TimeValue(Seconds(0)));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(rate));
    bottleneck.SetChannelAttribute("Delay", TimeValue(oneWay));
    bottleneck.SetQueue("ns3::DropTailQueue",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, bdp)));
    NetDeviceContainer left = fast.Install(nodes.Get(0), nodes.Get(1));
    NetDeviceContainer right = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    if (loss > 0)
    {
        auto model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(loss);
        right.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    addresses.Assign(left);
    addresses.SetBase("10.0.2.0", "255.255.255.0");
    Ipv4InterfaceContainer client = addresses.Assign(right);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(client.GetAddress(1), 9));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    auto sinks = sink.Install(nodes.Get(2));
    auto received = DynamicCast<PacketSink>(sinks.Get(0));

    uint64_t atWarm = 0;
    Simulator::Schedule(Seconds(2), [&]() { atWarm = received->GetTotalRx(); });
    Simulator::Stop(Seconds(12));
    Simulator::Run();
    const double goodput = (received->GetTotalRx() - atWarm) * 8 / 10.0 / 1e6;
    std::cout << "{\"goodput_mbps\": " << goodput << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
