"""Ways to write an address that must not be called, as hosts and as whole URLs."""

LOOPBACK = (
    "127.0.0.1", "127.1", "127.0.1", "127.127.127.127", "2130706433", "0x7f000001", "0x7f.1",
    "0x7f.0.0.0x1",
    "0177.0.0.1", "017700000001", "127.000.000.001", "127.0.0.1.", "localhost", "LOCALHOST",
    "localhost.",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]",
    "[::1%25lo]",
    "[::1%lo]", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127｡0｡0｡1", "127%2e0%2e0%2e1",
    "%31%32%37.0.0.1",
    "127.0.0.1%00.public.test", "lⓞcalhost", "localhost%00", "0", "0.0.0.0", "[::]", "00.0.0.0",
    "public.test@127.0.0.1",
    "public.test:80@127.0.0.1", "127.0.0.1\\@public.test", "127.0.0.1:80\\@public.test",
    "local.test", "rebind.test",
)  # fmt: skip
METADATA = (
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]",
    "[fd20:ce::254]", "[64:ff9b:1:a9fe:a9:fe00:808:808]", "[64:ff9b:1:a9:fe:a9fe::]",
    "[FD00:EC2::254]",
    "metadata.google.internal", "metadata.google.internal.", "METADATA.GOOGLE.INTERNAL",
    "metᵃdata.google.internal",
    "metadata", "instance-data", "168.63.129.16", "100.100.100.200", "192.0.0.192", "meta.test",
)  # fmt: skip
PRIVATE = (
    "10.0.0.5", "10.5", "167772165", "0xa000005", "172.16.0.1", "192.168.1.1", "192.168.257",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "192.88.99.1", "[5f00::1]",
    "203.0.113.1", "240.0.0.1", "[fc00::1]", "[fec0::1]", "[2001:db8::1]", "[::ffff:10.0.0.5]",
    "[64:ff9b::10.0.0.5]", "[2002:a00:5::]", "private.test", "both.test",
)  # fmt: skip
NO_SERVER = ("255.255.255.255", "224.0.0.1", "[ff02::1]", "[fe80::1]")
URLS = (
    "http:127.0.0.1/v1", "http:/127.0.0.1/v1", "http:\\\\127.0.0.1\\v1", "//127.0.0.1/v1",
    "ftp://127.0.0.1/v1",
    "gopher://127.0.0.1:80/_", "file:///etc/passwd", "javascript:1", "data:text/plain,1", "http://",
    "http://[", "http://]",
    "http://a..b/v1", "http://a.test:x/v1", "http://a.test:99999/v1", "http://a.test:0/v1",
    "http://a.test:-1/v1",
    "http:// 127.0.0.1/v1", "http://127.0.0.1 /v1", "http://127.0.0.1\t/v1",
    "http://127.0.0.1\n/v1", "http://\u0000/v1",
    "http://public.test\r\nHost: 127.0.0.1/v1", "http://-a.test/v1", "http://a_.-b/v1",
    "http://" + "a" * 64 + ".test/v1",
    "http://" + "a." * 130 + "test/v1", "http://*.test/v1", "http://a,b.test/v1", "http://[::1/v1",
    "http://::1/v1",
    "http://\ud800.test/v1", "http://user:secret@public.test/v1", "http://public.test/v1#",
    "http://public.test/v1?", "",
)  # fmt: skip
