import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { anchorOf, renderMarkdown, type Rendered, type Resolve } from "./markdown.ts";
import { ROOT } from "./root.ts";

/** A page of the documentation: of a file, or made from the code. */
export type DocPage = {
  /** As addresses have it. */
  name: string;
  title: string;
  /** The file, below the root of the repository. Of what is made from code, where it would be. */
  path: string;
  markdown: () => string | Promise<string>;
};

/** Pages that are not in `docs`, by name. */
const OTHERS = {
  overview: "README.md",
  reporting: "SECURITY.md",
  iris: "examples/iris/README.md",
};

/** All pages that are files, in no order that matters. */
export function docPages(): DocPage[] {
  const docs = globSync("docs/*.md", { cwd: ROOT }).map((path) => [basename(path, ".md"), path] as const);
  return [...Object.entries(OTHERS), ...docs].map(([name, path]) => {
    const markdown = (): string => readFileSync(join(ROOT, path), "utf8");
    return { name, title: /^# (.+)$/m.exec(markdown())?.[1] ?? name, path, markdown };
  });
}

/** What an address says of a page, after `#`. */
const addressOf = (name: string): string => `#/docs/${encodeURIComponent(name)}`;

/**
 * A page as HTML, its links as addresses of this site.
 * @param pages All pages of the site
 * @throws Error if a link leads to no page
 */
export async function renderPage(page: DocPage, pages: readonly DocPage[]): Promise<Rendered> {
  const toSite: Resolve = (link) => {
    if (/^https?:/.test(link)) return { href: link };
    const [path = "", section] = link.split("#");
    const target = path === "" ? page.path : join(dirname(page.path), path);
    const found = pages.find((each) => each.path === target);
    if (found === undefined) throw new Error(`${page.path} links to ${link}, which is no page of the site`);
    const href = addressOf(found.name) + (section === undefined ? "" : `/${anchorOf(section)}`);
    return { href, title: found.title };
  };
  return renderMarkdown(await page.markdown(), toSite);
}
