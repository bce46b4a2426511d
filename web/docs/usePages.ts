import { useEffect, useState } from "preact/hooks";
import { PAGES } from "virtual:refute-docs";
import { sectionsOf, type Section } from "./sections.ts";

/** What is known of something that is fetched. */
type Fetched<T> = { value: T } | { error: unknown } | undefined;

/** The HTML of a page; undefined while it is fetched. */
export function useHtml(name: string): Fetched<string> {
  const [fetched, setFetched] = useState<{ name: string; what: Fetched<string> }>();
  useEffect(() => {
    const page = PAGES.find((each) => each.name === name)!;
    page.load().then(
      ({ default: value }) => setFetched({ name, what: { value } }),
      (error: unknown) => setFetched({ name, what: { error } }),
    );
  }, [name]);
  return fetched?.name === name ? fetched.what : undefined;
}

/** The sections of all pages; undefined while they are fetched. */
export function useSections(): Fetched<Section[]> {
  const [fetched, setFetched] = useState<Fetched<Section[]>>();
  useEffect(() => {
    allSections().then(
      (value) => setFetched({ value }),
      (error: unknown) => setFetched({ error }),
    );
  }, []);
  return fetched;
}

async function allSections(): Promise<Section[]> {
  const each = PAGES.map(async ({ name, load }) => sectionsOf(name, (await load()).default));
  return (await Promise.all(each)).flat();
}
