#include "reports/markup.h"

#include "reports/plain.h"

static const char *entity(uint32_t code) {
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n': return "&#10;";
    default: return NULL;
    }
}

void markup_text(struct output *out, struct str text) {
    for (uint32_t i = 0; i < text.len;) {
        struct glyph glyph = glyph_at(text.data + i, text.len - i);
        const char *escape = entity(glyph.valid ? glyph.code : 0);
        // XML 1.0 also leaves out the two non-characters at the end of the first plane.
        bool allowed = glyph.shown && glyph.code != 0xfffe && glyph.code != 0xffff;
        if (escape != NULL) output_text(out, escape);
        else if (allowed) output_bytes(out, text.data + i, glyph.bytes);
        else output_text(out, "\xef\xbf\xbd");
        i += glyph.bytes;
    }
}
