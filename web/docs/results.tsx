import { useEffect } from "preact/hooks";
import { PAGES } from "virtual:refute-docs";
import { counted } from "../format.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { placeHash } from "./address.ts";
import { search, type Found } from "./search.ts";
import { useSections } from "./usePages.ts";

const MAX = 25;

/** What the documentation says about a question. It is looked for in this browser. */
export function Results({ question, onOpen }: { question: string; onOpen: () => void }) {
  const sections = useSections();
  useEffect(() => scrollTo(0, 0), [question]);
  if (sections === undefined) return <Loading what="Reading all pages" />;
  if ("error" in sections) return <Failure error={sections.error} />;
  const found = search(sections.value, question, MAX);
  if (found.length === 0) return <Empty title="Nothing found">No section has all of these words.</Empty>;
  return (
    <div class="stack">
      <p class="soft small" role="status">
        {found.length < MAX ? counted(found.length, "section") : `The first ${MAX} sections`}
      </p>
      <ol class="found" onClick={onOpen}>
        {found.map((each) => (
          <Result key={`${each.section.page}/${each.section.id}`} found={each} />
        ))}
      </ol>
    </div>
  );
}

function Result({ found: { section, excerpt } }: { found: Found }) {
  const { page, id, heading, depth } = section;
  const title = PAGES.find(({ name }) => name === page)!.title;
  return (
    <li>
      <a href={placeHash(page, depth === 1 ? "" : id)}>{heading}</a>
      {depth > 1 && <span class="soft small"> in {title}</span>}
      <p class="soft">{excerpt.map(({ text, isWord }) => (isWord ? <mark>{text}</mark> : text))}</p>
    </li>
  );
}
