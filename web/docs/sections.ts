/** A part of a page, from a heading to the next one. */
export type Section = {
  /** The name of the page. */
  page: string;
  /** The anchor of the heading; empty for what stands before the first one. */
  id: string;
  heading: string;
  /** 1 for the title of a page. */
  depth: number;
  /** What stands below the heading, without marks. */
  text: string;
};

const HEADING = /<h([1-6]) id="s-([^"]*)">([^]*?)<\/h\1>/g;
const INLINE = /<\/?(?:a|code|em|strong|del)\b[^>]*>/g;
const ENTITIES: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

/** Cuts the HTML of a page, as this site renders it, into its sections. */
export function sectionsOf(page: string, html: string): Section[] {
  const headings = [...html.matchAll(HEADING)];
  return headings.map(({ 0: whole, 1: depth, 2: id, 3: heading, index }, k) => ({
    page,
    id: id!,
    heading: plain(heading!),
    depth: Number(depth),
    text: plain(html.slice(index + whole.length, headings[k + 1]?.index)),
  }));
}

/** The text of rendered HTML, on one line. */
const plain = (html: string): string =>
  html
    .replace(INLINE, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity]!)
    .replace(/\s+/g, " ")
    .trim();
