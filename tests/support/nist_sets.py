"""A source set in NIST's XML, and a reference set in SGML."""

from __future__ import annotations

SOURCE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<mteval><srcset setid="demo" srclang="French">
<doc docid="d1" genre="nw"><hl><seg id="1"> le chat </seg></hl>
<p><seg id="2">AT&amp;T &lt;s&gt; &#233;</seg></p></doc>
<doc docid="d2" genre="wb"><seg id="1">x</seg></doc>
</srcset></mteval>"""


SGML = """<!DOCTYPE REFSET SYSTEM "http://example.invalid/mteval.dtd">
<REFSET setid="demo" srclang="French" trglang="English">
<DOC docid=d1 sysid=r1>
<hl><SEG id=1> the
 cat </SEG></hl>
<p><seg id=2> AT&T caf&eacute; a < b </seg></p></DOC>
<DOC docid="d2" sysid="r1"><seg id=1> x </seg></DOC>
<DOC docid="d1" sysid="r2"><seg id=1>a cat</seg><seg id=2></seg></DOC>
<DOC docid="d2" sysid="r2"><seg id=1>y</seg></DOC>
</REFSET>"""
