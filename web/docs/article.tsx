import { useEffect, useRef } from "preact/hooks";
import { Failure, Loading } from "../ui/states.tsx";
import { useHtml } from "./usePages.ts";

/** A page, scrolled to a section. Its HTML was rendered while the site was built, and has the tags of Markdown only. */
export function Article({ name, section }: { name: string; section: string | undefined }) {
  const html = useHtml(name);
  const article = useRef<HTMLElement>(null);
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
