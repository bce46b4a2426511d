import { PAGES } from "virtual:refute-docs";
import { placeHash } from "./address.ts";
import { chapters, isPath, type Chapter } from "./outline.ts";

/** Where somebody starts who does not know what to look for. */
export function StartPage() {
  return (
    <div class="stack">
      <h1>Documentation</h1>
      <div class="columns">
        {chapters(PAGES)
          .filter(isPath)
          .map((chapter) => (
            <section key={chapter.title} class="card stack-tight">
              <ChapterLinks chapter={chapter} isOrdered />
            </section>
          ))}
      </div>
      <div class="columns">
        {chapters(PAGES)
          .filter((chapter) => !isPath(chapter))
          .map((chapter) => (
            <section key={chapter.title} class="stack-tight">
              <ChapterLinks chapter={chapter} />
            </section>
          ))}
      </div>
    </div>
  );
}

function ChapterLinks({ chapter, isOrdered = false }: { chapter: Chapter; isOrdered?: boolean }) {
  const List = isOrdered ? "ol" : "ul";
  return (
    <>
      <h2>{chapter.title}</h2>
      <p class="soft">{chapter.about}</p>
      <List class="links">
        {chapter.entries.map(({ title, page, section }) => (
          <li key={title}>
            <a href={placeHash(page, section)}>{title}</a>
          </li>
        ))}
      </List>
    </>
  );
}
