import { PAGES } from "virtual:refute-docs";
import { placeHash } from "./address.ts";
import { chapters, isPath, type Chapter } from "./outline.ts";

/** Where somebody starts who does not know what to look for. */
export function StartPage() {
  const all = chapters(PAGES);
  return (
    <div class="stack">
      <h1>Documentation</h1>
      {all.slice(0, 1).map((chapter) => (
        <section key={chapter.title} class="stack-tight">
          <ChapterLinks chapter={chapter} />
        </section>
      ))}
      <div class="columns">
        {all.filter(isPath).map((chapter) => (
          <section key={chapter.title} class="card stack-tight">
            <ChapterLinks chapter={chapter} isOrdered />
          </section>
        ))}
      </div>
      <div class="columns">
        {all
          .slice(1)
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
