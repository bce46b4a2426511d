import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";
import { PLACE } from "./markdown.ts";
import { REFERENCE } from "./reference.ts";
import { ROOT } from "./root.ts";
import { docPages, renderPage } from "./site.ts";

/** The module that lists the pages. Below it, a module for each page has its HTML. */
const ID = "virtual:refute-docs";

const GAP = "\n\n";

/** Code for a text, with each of its paragraphs once: commands share most of their flags. */
function codeOf(text: string): string {
  const paragraphs = text.split(GAP);
  const texts = [...new Set(paragraphs)];
  if (texts.length === paragraphs.length) return JSON.stringify(text);
  const numbers = paragraphs.map((paragraph) => texts.indexOf(paragraph));
  const [all, gap] = [JSON.stringify(texts), JSON.stringify(GAP)];
  return `((texts) => ${JSON.stringify(numbers)}.map((k) => texts[k]).join(${gap}))(${all})`;
}

/** Renders the documentation while the site is built, each page into a module of its own that is fetched if opened. */
export const documentation = (): Plugin => ({
  name: "refute-docs",
  resolveId: (id) => (id === ID || id.startsWith(`${ID}/`) ? `\0${id}` : undefined),
  async load(id) {
    if (!id.startsWith(`\0${ID}`)) return undefined;
    const pages = [...docPages(), ...REFERENCE];
    if (id === `\0${ID}`) {
      const entries = pages.map(({ name, title }) => {
        const module = JSON.stringify(`${ID}/${name}`);
        return `{ name: ${JSON.stringify(name)}, title: ${JSON.stringify(title)}, load: () => import(${module}) }`;
      });
      return `export const PAGES = [${entries.join(",\n")}];`;
    }
    const page = pages.find(({ name }) => id === `\0${ID}/${name}`);
    if (page === undefined) throw new Error(`the documentation has no page ${id}`);
    const file = join(ROOT, page.path);
    if (existsSync(file)) this.addWatchFile(file);
    const { html, pictures } = await renderPage(page, pages);
    const imports = pictures.map((picture, k) => {
      const path = join(ROOT, dirname(page.path), picture);
      return `import picture${k} from ${JSON.stringify(`${path}?url`)};`;
    });
    const pieces = html.split(PLACE).map((piece, k) => (k % 2 === 0 ? codeOf(piece) : `picture${piece}`));
    return `${imports.join("\n")}\nexport default ${pieces.join(" + ")};`;
  },
});
