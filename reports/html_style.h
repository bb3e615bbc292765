// The style sheet of the HTML report: no scripts, no fonts, nothing from the network.
#ifndef PTXVET_REPORTS_HTML_STYLE_H
#define PTXVET_REPORTS_HTML_STYLE_H

static const char *const html_style[] = {
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#5b6572;--line:#d8dee4;"
    "--card:#f6f8fa;--error:#c62828;--warning:#8a5a00;--note:#1565c0;--ok:#1b7f3b;"
    "--read:#2f7ed8;--write:#d9822b;--hidden:#8e7cc3;--bad:#c62828;--bar:#cfe3f7}",
    "@media(prefers-color-scheme:dark){:root{--bg:#0e1116;--fg:#e6edf3;--soft:#9aa5b1;"
    "--line:#30363d;--card:#161b22;--error:#ff7b72;--warning:#e3b341;--note:#79c0ff;--ok:#56d364;"
    "--read:#58a6ff;--write:#f0a04b;--hidden:#b39ddb;--bad:#ff7b72;--bar:#1f3a57}}",
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,sans-serif}main,header{max-width:68rem;margin:0 auto;padding:1rem}",
    "h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.2rem 0 .5rem;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}h3{font-size:1rem;margin:1.2rem 0 .4rem;"
    "overflow-wrap:anywhere}.soft{color:var(--soft)}",
    ".totals{display:flex;flex-wrap:wrap;gap:.6rem;padding:0;margin:.8rem 0;list-style:none}"
    ".totals li{background:var(--card);border:1px solid var(--line);border-radius:.5rem;"
    "padding:.4rem .9rem}.totals b{font-size:1.3rem;display:block}",
    ".error b,.badge.error{color:var(--error)}.warning b,.badge.warning{color:var(--warning)}"
    ".note b,.badge.note{color:var(--note)}.ok b,.badge.ok{color:var(--ok)}",
    ".finding,.launch{background:var(--card);border:1px solid var(--line);"
    "border-left:.3rem solid var(--soft);border-radius:.4rem;padding:.5rem .8rem;margin:.7rem 0;"
    "content-visibility:auto;contain-intrinsic-size:auto 12rem}",
    ".finding.error,.launch.fails{border-left-color:var(--error)}"
    ".finding.warning,.launch.unknown{border-left-color:var(--warning)}"
    ".finding.note{border-left-color:var(--note)}.launch.ok{border-left-color:var(--ok)}",
    ".finding p{margin:.25rem 0;overflow-wrap:anywhere}.finding .message{font-weight:600}"
    ".badge{font-weight:700;text-transform:uppercase;font-size:.8rem;letter-spacing:.04em}",
    "pre,code,.mono{font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    "pre{overflow-x:auto;margin:.5rem 0;padding:.5rem;background:var(--bg);border-radius:.3rem;"
    "border:1px solid var(--line);tab-size:8}",
    ".i1{color:var(--error);font-weight:700}.i2{color:var(--warning);font-weight:700}"
    ".i3{color:var(--note);font-weight:700}.i4{color:var(--soft)}.i5{color:var(--ok)}"
    ".i6{font-weight:700}",
    "table{border-collapse:collapse;font-size:.9rem}td,th{padding:.15rem .7rem .15rem 0;"
    "text-align:left;vertical-align:top}th{color:var(--soft);font-weight:500}"
    "td,th{white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}.wide{overflow-x:auto}",
    "svg{max-width:100%;min-width:34rem;height:auto;display:block;margin:.4rem 0}svg text{fill:currentColor;"
    "font:11px system-ui,sans-serif}svg .soft{fill:var(--soft)}svg .axis{stroke:var(--line)}"
    "svg .cell{fill:var(--bar);stroke:var(--soft)}svg .pad{fill:none;stroke:var(--line);"
    "stroke-dasharray:3 2}svg .hidden{fill:var(--hidden);fill-opacity:.35;stroke:var(--hidden)}",
    "svg .read{fill:var(--read)}svg .write{fill:var(--write)}svg .bad{fill:var(--bad)}"
    "svg .room{fill:var(--bar)}svg .curve{fill:none;stroke:var(--read);stroke-width:2}"
    "svg .here{stroke:var(--write);stroke-width:1.5;stroke-dasharray:4 3}",
    ".key{display:inline-block;width:.8em;height:.8em;border-radius:.15em;margin:0 .3em 0 .8em}"
    ".key.read{background:var(--read)}.key.write{background:var(--write)}"
    ".key.bad{background:var(--bad)}details{margin:.4rem 0}summary{cursor:pointer}",
    "@media(max-width:40rem){body{font-size:15px}main,header{padding:.6rem}pre{font-size:.75rem}}"
    "@media print{.finding,.launch{content-visibility:visible}}"};

#endif
