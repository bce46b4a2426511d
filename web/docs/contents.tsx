import { useEffect, useRef } from "preact/hooks";
import { PAGES } from "virtual:refute-docs";
import { placeHash } from "./address.ts";
import { chapters, type Entry } from "./outline.ts";

/** Below this width the contents are folded until somebody wants them. */
const NARROW = "(max-width: 56rem)";

type Place = { name: string | undefined; section: string | undefined };

/** All chapters with their pages. On a narrow screen they are folded. */
export function Contents({ name, section, onOpen }: Place & { onOpen: () => void }) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const narrow = matchMedia(NARROW);
    const fold = (): void => {
      details.current!.open = !narrow.matches;
    };
    fold();
    narrow.addEventListener("change", fold);
    return () => narrow.removeEventListener("change", fold);
  }, [name, section]);
  const current = currentOf(name, section);
  return (
    <details ref={details} class="contents">
      <summary>Contents</summary>
      <nav aria-label="Documentation" onClick={onOpen}>
        {chapters(PAGES).map(({ title, entries }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {entries.map((entry) => (
                <li key={entry.title}>
                  <a
                    href={placeHash(entry.page, entry.section)}
                    {...(entry === current && { "aria-current": "page" as const })}
                  >
                    {entry.title}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </details>
  );
}

/** The entry of a place: of its section if there is one, else of its page. */
function currentOf(name: string | undefined, section: string | undefined): Entry | undefined {
  const all = chapters(PAGES)
    .flatMap(({ entries }) => entries)
    .filter(({ page }) => page === name);
  return all.find((entry) => entry.section === section) ?? all.find((entry) => entry.section === undefined);
}
