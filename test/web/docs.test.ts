import { expect } from "chai";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import { chapters, OUTLINE } from "../../web/docs/outline.ts";
import { escapeMarkdown, renderMarkdown } from "../../web/docs/render/markdown.ts";
import { REFERENCE } from "../../web/docs/render/reference.ts";
import { docPages, renderPage } from "../../web/docs/render/site.ts";
import { search } from "../../web/docs/search.ts";
import { sectionsOf } from "../../web/docs/sections.ts";

/** Tags that a page may have. */
const TAGS = new Set(
  "a blockquote br code del div em h1 h2 h3 h4 hr img li ol p pre strong table tbody td th thead tr ul".split(" "),
);

const render = (text: string): string => renderMarkdown(text, (href) => ({ href })).html;

describe("the documentation of the page", () => {
  const pages = [...docPages(), ...REFERENCE];
  /** Pages that ask the command line and compilers take long: `npm run verify -- system web` builds them. */
  const quick = pages.filter(({ name }) => !/^(commands|contracts|refute-.*)$/.test(name));
  let html: Map<string, string>;
  before(async () => {
    const each = quick.map(async (page) => [page.name, (await renderPage(page, pages)).html] as const);
    html = new Map(await Promise.all(each));
  });

  /** Whether a place is there. */
  const isThere = (name: string, section: string | undefined): boolean =>
    section === undefined
      ? pages.some((page) => page.name === name)
      : (html.get(name)?.includes(` id="s-${section}"`) ?? false);

  itInTime("everyEntryLeadsSomewhere_andPagesWithoutOneAreAtTheEnd", () => {
    const entries = chapters([...pages, { name: "new", title: "New" }]).flatMap((chapter) => chapter.entries);
    expect(entries.pop()).to.deep.equal({ page: "new", title: "New" });
    expect(chapters([])).to.equal(OUTLINE);
    const named = new Set(entries.map(({ page }) => page));
    expect(pages.map(({ name }) => name).filter((name) => !named.has(name))).to.deep.equal([]);
    expect(entries.filter(({ page, section }) => !isThere(page, section))).to.deep.equal([]);
  });

  itInTime("everyLinkWithinTheSite_leadsToASection", () => {
    const links = [...html].flatMap(([name, text]) =>
      [...text.matchAll(/href="#\/docs\/([^"/]+)(?:\/([^"]*))?"/g)].map(([, page, section]) => ({
        name,
        page,
        section,
      })),
    );
    expect(links.length).to.be.greaterThan(200);
    expect(links.filter(({ page, section }) => !isThere(page!, section))).to.deep.equal([]);
  });

  itInTime("everyPage_hasOnlyTagsOfMarkdown_andNoAnchorTwice", () => {
    for (const [name, text] of html) {
      const tags = [...text.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag!);
      expect(
        tags.filter((tag) => !TAGS.has(tag)),
        name,
      ).to.deep.equal([]);
      const anchors = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!);
      expect(new Set(anchors).size, name).to.equal(anchors.length);
    }
  });

  itInTime("referenceOfHttp_isMadeFromTheCode", () => {
    expect(html.get("http")).to.include("POST /v1/answers").and.to.include("<strong>402</strong>");
  });

  itAtLength("referenceOfThePackage_isMadeByTypeDoc_withoutMarksOfItsOwn", async () => {
    const [browser, sdk, node] = await Promise.all(
      REFERENCE.filter(({ name }) => name.startsWith("refute-")).map(async (page) => renderPage(page, pages)),
    );
    expect(browser!.html).to.include('id="s-postjob"').and.to.include("function postJob(");
    expect(node!.html).to.include('id="s-dispatchstore"').and.to.include('href="#/docs/refute-browser/session"');
    // What an entry takes over from another one stands there.
    expect(sdk!.html).to.include("loadProgram").and.not.to.include("postJob");
    for (const { html: own } of [browser!, sdk!, node!]) expect(own).not.to.match(/&lt;a id|Anonymous class|Inherited/);
  });

  itInTime("htmlInAPage_isShownAsText", () => {
    const hostile =
      "# <img src=x onerror=1>\n\n<script>a</script>\n\n`<b>` a <i>b</i> [x](<javascript:\"'>)\n\n    <pre>";
    const text = render(hostile);
    expect(text).not.to.match(/<(?:script|img|i|b)\b/);
    expect(text).to.include("<code>&lt;b&gt;</code>").and.to.include("&lt;pre&gt;");
    expect(render(escapeMarkdown("a_b_c *x* `_y_` <i>"))).to.equal("<p>a_b_c *x* <code>_y_</code> &lt;i&gt;</p>\n");
    expect(render("a <!-- hidden --> b")).not.to.include("hidden");
  });

  itInTime("aLinkToNothing_isAnError", async () => {
    const page = { name: "x", title: "x", path: "docs/x.md", markdown: () => "[y](y.md)" };
    const failure = await renderPage(page, pages).catch((error: Error) => error.message);
    expect(failure).to.include("docs/x.md links to y.md");
  });

  itInTime("search_findsSectionsWithAllWords_headingsFirst", () => {
    const sections = sectionsOf(
      "p",
      render("# Page\n\nAll\n\n## Keys\n\nOf `a<b`.\n\n## Other\n\nKeys and keys of all."),
    );
    expect(sections.map(({ id, text }) => [id, text])).to.deep.equal([
      ["page", "All"],
      ["keys", "Of a<b."],
      ["other", "Keys and keys of all."],
    ]);
    const found = (question: string) => search(sections, question, 9).map(({ section }) => section.id);
    expect(found("KEYS")).to.deep.equal(["keys", "other"]);
    expect(found("keys all")).to.deep.equal(["other"]);
    expect(found("a<b")).to.deep.equal(["keys"]);
    expect(found("absent")).to.deep.equal([]);
    expect(found(" ")).to.deep.equal([]);
    const [first] = search(sections, "all (", 9);
    expect(first).to.equal(undefined);
    const [other] = search(sections, "and", 9);
    expect(other!.excerpt.filter(({ isWord }) => isWord).map(({ text }) => text)).to.deep.equal(["and"]);
  });
});
