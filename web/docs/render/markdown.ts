import { Marked, type Tokens } from "marked";

/** A page as HTML. For the addresses of pictures, `PLACE` and their number and `PLACE` stand in it. */
export type Rendered = { html: string; pictures: string[] };

/** Where a link of a page leads, and the title of the page that it leads to. @throws Error if it leads nowhere */
export type Resolve = (link: string) => { href: string; title?: string };

/** Stands in no text of a page. */
export const PLACE = "\u0001";

const ESCAPES: Record<string, string> = { "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "&": "&amp;" };

/** A text as it stands in HTML. */
const escapeHtml = (text: string): string => text.replace(/[<>"'&]/g, (sign) => ESCAPES[sign]!);

/** A text without marks as it stands in Markdown: only code in backticks stays what it is. */
export const escapeMarkdown = (text: string): string =>
  text.replace(/`[^`]*`|[\\*_{}[\]<>#|~]/g, (part) => (part.startsWith("`") ? part : `\\${part}`));

/** A text as a block of code in Markdown. */
export const indented = (text: string): string => text.replace(/^(?=.)/gm, "    ");

/** Headings of each entry of a reference, to which nothing leads. */
const PARTS =
  /^(Parameters|Returns|Throws|Extends|Extended by|Properties|Methods|Accessors|Constructors|Type \w+|\w+ Signature)$/;

/** A heading's anchor, as GitHub makes it. @param heading Markdown */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/**
 * Renders a page of the documentation. HTML in it is shown as text, comments are left out: what comes out has the tags
 * of Markdown only.
 * @throws Error if a link leads nowhere
 */
export function renderMarkdown(text: string, resolve: Resolve): Rendered {
  const pictures: string[] = [];
  const anchors = new Map<string, number>();
  const unique = (anchor: string): string => {
    const before = anchors.get(anchor) ?? 0;
    anchors.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  };
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, text: heading, depth }: Tokens.Heading) {
        const id = escapeHtml(unique(anchorOf(heading)));
        const inner = this.parser.parseInline(tokens);
        return depth > 3 && PARTS.test(heading)
          ? `<h${depth}>${inner}</h${depth}>\n`
          : `<h${depth} id="s-${id}">${inner}</h${depth}>\n`;
      },
      html: ({ text: html }: Tokens.HTML | Tokens.Tag) => escapeHtml(html.replace(/<!--[^]*?-->\n?/g, "")),
      link({ href: link, tokens, text: name }: Tokens.Link) {
        const { href, title } = resolve(link);
        const outside = href.startsWith("#") ? "" : ' rel="noopener noreferrer"';
        // Who reads the site knows no names of files.
        const isFile = title !== undefined && /^[\w/]+\.md$/.test(name);
        const inner = isFile ? escapeHtml(title) : this.parser.parseInline(tokens);
        return `<a href="${escapeHtml(href)}"${outside}>${inner}</a>`;
      },
      image({ href, text: alt }: Tokens.Image) {
        pictures.push(href);
        return `<img alt="${escapeHtml(alt)}" src="${PLACE}${pictures.length - 1}${PLACE}">`;
      },
      code: ({ text: code }: Tokens.Code) => `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`,
      table({ header, rows, align }: Tokens.Table) {
        const cells = (tag: string, row: readonly Tokens.TableCell[]): string => {
          const each = row.map(({ tokens }, k) => {
            const right = align[k] === "right" ? ' class="right"' : "";
            return `<${tag}${right}>${this.parser.parseInline(tokens)}</${tag}>`;
          });
          return `<tr>${each.join("")}</tr>`;
        };
        const head = `<thead>${cells("th", header)}</thead>`;
        const body = `<tbody>${rows.map((row) => cells("td", row)).join("")}</tbody>`;
        return `<div class="table" tabindex="0"><table>${head}${body}</table></div>\n`;
      },
    },
  });
  return { html: marked.parse(text.replaceAll(PLACE, ""), { async: false }), pictures };
}
