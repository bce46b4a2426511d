import { useEffect, useRef } from "preact/hooks";
import { Failure, Loading } from "../ui/states.tsx";
import { placeHash } from "./address.ts";
import { useHtml } from "./usePages.ts";

/** A page, scrolled to a section. Its HTML was rendered while the site was built, and has the tags of Markdown only. */
export function Article({ name, section }: { name: string; section: string | undefined }) {
  const html = useHtml(name);
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    for (const table of article.current?.querySelectorAll("table") ?? []) nameCells(table);
    for (const heading of article.current?.querySelectorAll("h2, h3, h4, h5, h6") ?? []) linkToItself(heading, name);
  }, [html, name]);
  useEffect(() => {
    if (html === undefined) return;
    // Whoever goes on by keys goes on from here, not from the contents.
    article.current?.focus({ preventScroll: true });
    if (section === undefined) return scrollTo(0, 0);
    const heading = [...(article.current?.querySelectorAll("[id]") ?? [])].find(({ id }) => id === `s-${section}`);
    heading?.scrollIntoView();
  }, [html, section]);
  if (html === undefined) return <Loading what="Opening the page" />;
  if ("error" in html) return <Failure error={html.error} />;
  return (
    <article
      ref={article}
      class="prose"
      tabIndex={-1}
      data-page={name}
      dangerouslySetInnerHTML={{ __html: html.value }}
    />
  );
}

/** Makes a heading a link to its section. In the site's files such links would be a thirtieth of all bytes. */
function linkToItself(heading: Element, page: string): void {
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = placeHash(page, heading.id.slice("s-".length));
  link.append(...heading.childNodes);
  heading.append(link);
}

/** On a narrow screen each row is a card, as in `Table`: cells get their column's title, and roles stay. */
function nameCells(table: HTMLTableElement): void {
  const [head] = table.rows;
  const titles = [...(head?.cells ?? [])].map(({ textContent }) => textContent);
  table.setAttribute("role", "table");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, k) => {
      cell.setAttribute("role", row === head ? "columnheader" : "cell");
      if (row !== head) cell.dataset["title"] = titles[k] ?? "";
    });
  }
}
