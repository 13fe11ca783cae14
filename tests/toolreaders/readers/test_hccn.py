"""hccn_tool: an answer is needed for a verdict; commands and prose are no output."""

import pytest

from toolreaders import ReadError, read_file

PING = ("device 0 PING 192.168.100.101\nrecv seq=0,time=0.196000ms\n"
        "3 packets transmitted, {0} received, {1}% packet loss\n")
HEAD = "hccn_tool -i 0 -{} -g\n"


def state(text, written):
    reading = read_file(written(text))
    return reading.values["healthy"], [warning.code for warning in reading.warnings]


@pytest.mark.parametrize("text", [
    "hccn_tool -i 0 -ping -g address 192.168.1.2\n",
    "执行命令 hccn_tool -i 0 -ping -g address 192.168.1.2 检查网络是否连通。\n",
    "# On node B, ping node A\nhccn_tool -i 0 -ping -g address <peer_node_IP>\n"
    "If the ping fails, check firewall settings.\n",
    "for i in {0..7}; do hccn_tool -i $i -net_health -g ; done\n",
    "#!/bin/bash\nhccn_tool -i 0 -link -g\n# link status: UP is expected\nlink status: UP\n",
    "def test_link():\n    out = 'link status: Up'\n    assert parse(out) == 'Up'\n\n\n"
    "def test_health():\n    out = '''\nnet health status: Success\n'''\n    assert parse(out)\n",
    "执行以下命令，查询网络健康状态，确认端口正常。\nhccn_tool -i 0 -net_health -g\n"
    "回显如下所示，表示网络链路状态健康，可以训练。\nnet health status: Success\n"
    "如果回显不是以上内容，请联系华为技术支持工程师处理。\n",
    "The line\n  the net health status: Success\nmeans that all is well; link status: UP too.\n",
])
def test_commands_prose_and_programs_are_no_output(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


@pytest.mark.parametrize("text", [
    "link status: DOWN\n", "Link status : down\n", "\tlink status: DOWN\n",
    "[devid 3]link status: DOWN\n", "net health status: Fault\n", "net health status: Init\n",
    PING.format(0, "100.00"), PING.format(2, "33.33"),
    HEAD.format("stat") + "packet statistics:\nroce_rx_err_pkt_num:7\n"])
def test_a_bare_answer_is_unhealthy(text, written):
    assert state(text, written) == (False, ["network_problem"])


@pytest.mark.parametrize("text", [
    "link status: UP\n", "Link Status: Up\n", "net health status: Success\n" * 8,
    PING.format(3, "0.00"), HEAD.format("stat") + "packet statistics:\nroce_rx_err_pkt_num:0\n"])
def test_a_good_answer_is_healthy(text, written):
    assert state(text, written) == (True, [])


@pytest.mark.parametrize("text", [
    HEAD.format("link") + "link status: UP\n" + HEAD.format("net_health"),
    HEAD.format("link") + "link status: UP\n" + HEAD.format("stat") + "Command execute failed!\n"])
def test_a_command_without_an_answer_is_not_healthy(text, written):
    assert state(text, written) == (None, ["no_answer"])


@pytest.mark.parametrize("text", [
    "ipaddr:10.20.0.20\nnetmask:255.255.255.0\n",
    HEAD.format("optical") + "optical info:\npresent              : present\n",
    HEAD.format("stat") + "packet statistics:\nmac_tx_bad_pkt_num:0\n",
    "link status: UP\n...\nlink status: UP\n", "link status:\n"])
def test_what_says_too_little_has_no_verdict(text, written):
    assert state(text, written) == (None, [])
