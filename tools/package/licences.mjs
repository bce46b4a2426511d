// The licences of what the package brings along.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Licences under which others' code may be shipped with the MIT licence. */
export const ALLOWED = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];

/** The package that a module's name belongs to. */
export const packageOf = (name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/");

/** A line that says whose a package is. Texts of licences that differ in these lines only are printed once. */
const OWNER = /^\s*(copyright\b(?! (and|notice|owner|holder|license|law|statement))|\(c\)).*\d{4}.*$/gim;
/** A title says no more than the licence's name beside the package. The appendix tells how to use the licence. */
const TITLE = /^\s*(the )?(mit|isc) license( \(mit\))?:?\s*$/gim;
const APPENDIX = /END OF TERMS AND CONDITIONS[^]*?limitations under the License\./g;

/**
 * The licences of all packages that files come from, as a text: packages under the same words, with their owners, come
 * before these words.
 * @param files Paths below node_modules, among others.
 * @throws Error for a licence that is not allowed, and for a package without the text of its licence
 */
export function licenceTexts(files) {
  const folders = new Set(
    files.flatMap((file) => {
      const at = file.lastIndexOf("node_modules/");
      if (at === -1) return [];
      const start = at + "node_modules/".length;
      return [file.slice(0, start) + packageOf(file.slice(start))];
    }),
  );
  const groups = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    // `(A AND B)` holds both.
    const named = String(license).replaceAll(/[()]/g, "").split(" AND ");
    if (!named.every((one) => ALLOWED.includes(one)))
      throw new Error(`${name} ${version} is under ${license}: allowed are ${ALLOWED.join(", ")}`);
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const text = texts.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
    // Some packages have the name of their licence only.
    const by = typeof author === "string" ? author : (author?.name ?? "its authors");
    const links = named.map((one) => `https://spdx.org/licenses/${one}.html`).join(", ");
    const owners = text === "" ? [`By ${by}`] : (text.match(OWNER) ?? []).map((line) => line.trim());
    const words =
      text === ""
        ? `The text of the licence: ${links}`
        : text.replaceAll(APPENDIX, "").replaceAll(OWNER, "").replaceAll(TITLE, "").trim();
    const key = words.replaceAll(/[^a-z]+/gi, " ").toLowerCase();
    const group = groups.get(key) ?? { words: words.replaceAll(/\n{3,}/g, "\n\n"), packages: [] };
    groups.set(key, group);
    group.packages.push([`${name} ${version} (${license})`, ...owners.map((owner) => `  ${owner}`)].join("\n"));
  }
  const parts = [...groups.values()].map(({ words, packages }) => `${packages.join("\n")}\n\n${words}\n`);
  return `Parts of these packages are in the folder vendor.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}
