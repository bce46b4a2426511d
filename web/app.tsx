import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { PAGES, type Page } from "./pages.ts";
import { routeHash, type Route } from "./route.ts";
import { shown } from "./format.ts";
import { Empty, Failure, Loading } from "./ui/states.tsx";
import { ThemeButton } from "./ui/theme.tsx";
import { useRoute } from "./ui/useRoute.ts";
import type { PageProps } from "./pageProps.ts";

/** Names that pages had: links to them stay. */
const FORMER: Readonly<Record<string, string>> = { operators: "node" };

/** The frame of all pages: the bar, and the page that the address names. */
export function App() {
  const route = useRoute();
  const [first] = PAGES;
  const name = FORMER[route.path[0] ?? first.name] ?? route.path[0] ?? first.name;
  const page = PAGES.find((each) => each.name === name);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${page?.title ?? "Not found"} · Refute`;
  }, [page]);
  return (
    <>
      <a class="skip" href={location.hash} onClick={(event) => focus(event, main.current)}>
        To the content
      </a>
      <header class="bar">
        <a class="brand" href={routeHash([])}>
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M4 6h24L20 15v5l-8 6V15z" />
          </svg>
          Refute
        </a>
        <nav aria-label="Pages">
          {PAGES.filter(({ isFirst }) => isFirst !== true).map((each) => (
            <a
              key={each.name}
              href={routeHash([each.name], kept(route))}
              {...(each.name === name && { "aria-current": "page" as const })}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <span class="spring" />
        <ThemeButton />
      </header>
      <main ref={main} tabIndex={-1}>
        {page === undefined ? (
          <Empty title="There is no such page">
            Nothing is called “{shown(name, 40)}” here. <a href={routeHash([])}>To the start</a>
          </Empty>
        ) : (
          <Opened key={page.name} page={page} route={route} />
        )}
      </main>
    </>
  );
}

/** Pages share the deployment that they look at. */
function kept({ query: { rpc, market, from, exams, panels } }: Route): Record<string, string | undefined> {
  return { rpc, market, from, exams, panels };
}

function focus(event: Event, target: HTMLElement | null): void {
  event.preventDefault();
  target?.focus();
}

function Opened({ page, route }: { page: Page; route: Route }) {
  const [content, setContent] = useState<{ show: ComponentType<PageProps> } | { error: unknown }>();
  const [tries, setTries] = useState(0);
  const [thrown, resetError] = useErrorBoundary() as [unknown, () => void];
  useEffect(() => {
    page.load().then(
      (show) => setContent({ show }),
      (error: unknown) => setContent({ error }),
    );
  }, [page, tries]);
  if (thrown !== undefined) return <Failure error={thrown} onRetry={resetError} />;
  if (content === undefined) return <Loading what={`Opening ${page.title}`} />;
  if ("error" in content) return <Failure error={content.error} onRetry={() => setTries(tries + 1)} />;
  return <content.show route={route} />;
}
