import { useState } from "preact/hooks";
import { PAGES } from "virtual:refute-docs";
import { shown } from "../format.ts";
import { Empty } from "../ui/states.tsx";
import { Article } from "./article.tsx";
import { Contents } from "./contents.tsx";
import { Results } from "./results.tsx";
import { StartPage } from "./startPage.tsx";
import "./docs.css";
import type { PageProps } from "../pageProps.ts";

/** The documentation: a page of it, or what somebody looks for; beside it, all that there is. */
export function DocsPage({ route }: PageProps) {
  const [question, setQuestion] = useState("");
  const [, name, section] = route.path;
  const close = (): void => setQuestion("");
  return (
    <div class="docs">
      <aside>
        <form role="search" onSubmit={openFirst}>
          <label class="field">
            <span>Search the documentation</span>
            <input type="search" value={question} onInput={({ currentTarget }) => setQuestion(currentTarget.value)} />
          </label>
        </form>
        <Contents name={name} section={section} onOpen={close} />
      </aside>
      {question.trim() !== "" ? (
        <Results question={question} onOpen={close} />
      ) : name === undefined ? (
        <StartPage />
      ) : PAGES.some((page) => page.name === name) ? (
        <Article key={name} name={name} section={section} />
      ) : (
        <Empty title="There is no such page">The documentation has nothing called “{shown(name, 40)}”.</Empty>
      )}
    </div>
  );
}

/** Enter opens what was found first. */
function openFirst(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLAnchorElement>(".found a")?.click();
}
