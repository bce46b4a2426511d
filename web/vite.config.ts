import { createReadStream, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { documentation } from "./docs/render/plugin.ts";

const ROOT = resolve(import.meta.dirname, "..");
const HERE = import.meta.dirname;

/** Files of the sources that need Node or that no page needs, and what stands in their place in a page. */
const REPLACED = new Map([
  ...["bytes", "hashKernel"].map((name): [string, string] => [
    resolve(ROOT, `src/program/merkle/${name}.ts`),
    resolve(ROOT, `src/program/merkle/browser/${name}.ts`),
  ]),
  [resolve(ROOT, "src/compiler/passes/shares/cutBatch.ts"), resolve(HERE, "platform/cutBatch.ts")],
]);
/** Modules of Node, and the little of them that compiler and executor use. */
const PLATFORM = new Map(
  ["crypto", "fs", "module", "os", "path", "worker_threads"].map((name) => [`node:${name}`, name]),
);

const replacements = (): Plugin => ({
  name: "refute-replacements",
  enforce: "pre",
  resolveId(id, importer) {
    const own = PLATFORM.get(id);
    if (own !== undefined) return resolve(HERE, "platform", `${own}.ts`);
    if (importer === undefined || !id.startsWith(".")) return undefined;
    return REPLACED.get(resolve(importer, "..", id));
  },
});

/**
 * What the built page may do: run its own files, and fetch from the nodes that its user names. Styles of elements come
 * from scripts.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src 'self' http: https:",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const policy = (): Plugin => ({
  name: "refute-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
  ],
});

/** What makes tokens of texts, 90 kB: a thread fetches it only where somebody checks a receipt. */
const textLibraries = {
  chunkFileNames: ({ name }: { name: string }) =>
    `${name === "textLibraries" ? "optional" : "assets"}/[name]-[hash].js`,
  codeSplitting: { groups: [{ name: "textLibraries", test: /node_modules\/@huggingface\// }] },
};

/** Plain onnxruntime for the playground, 14 MB: fetched only where somebody executes a model, and never needed. */
const OPTIONAL = ["ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm"];
const TYPES: Record<string, string> = { ".mjs": "text/javascript", ".wasm": "application/wasm" };

const optional = (): Plugin => {
  const from = (name: string): string => resolve(ROOT, "node_modules/onnxruntime-web/dist", name);
  return {
    name: "refute-optional",
    configureServer: ({ middlewares }) => {
      middlewares.use("/optional/", (request, response, next) => {
        const name = OPTIONAL.find((each) => request.url?.split("?")[0] === `/${each}`);
        if (name === undefined) return next();
        response.setHeader("content-type", TYPES[extname(name)]!);
        createReadStream(from(name)).pipe(response);
      });
    },
    generateBundle() {
      for (const name of OPTIONAL)
        this.emitFile({ type: "asset", fileName: `optional/${name}`, source: readFileSync(from(name)) });
    },
  };
};

/** Hands over the metrics of monitors of this machine, which answer no page of another origin. */
const monitors = (): Plugin => ({
  name: "refute-monitors",
  configureServer: ({ middlewares }) => {
    middlewares.use("/monitor/", (request, response, next) => {
      const port = /^\/(\d{1,5})$/.exec(request.url ?? "")?.[1];
      if (port === undefined) return next();
      fetch(`http://127.0.0.1:${port}/metrics`)
        .then((answer) => answer.text())
        .then(
          (text) => response.end(text),
          () => response.writeHead(502).end(),
        );
    });
  },
});

const { repository } = JSON.parse(readFileSync(resolve(ROOT, "package.json"), "utf8")) as {
  repository?: { url: string };
};
const REPOSITORY = repository?.url.replace(/^git\+/, "").replace(/\.git$/, "") ?? "";

/**
 * Where the site will be, for the picture that other sites show of a link, which needs a whole address, and for the way
 * home from an address that is none.
 */
const SITE = process.env["REFUTE_SITE"] ?? "./";

const withSite = (html: string): string => html.replaceAll("%SITE%", SITE.replace(/\/?$/, "/"));

const site = (): Plugin => ({
  name: "refute-site",
  transformIndexHtml: { order: "pre", handler: withSite },
  generateBundle() {
    this.emitFile({
      type: "asset",
      fileName: "404.html",
      source: withSite(readFileSync(resolve(HERE, "404.html"), "utf8")),
    });
  },
});

export default defineConfig({
  root: HERE,
  base: "./",
  define: { REPOSITORY: JSON.stringify(REPOSITORY) },
  cacheDir: resolve(ROOT, "node_modules/.vite-web"),
  plugins: [site(), replacements(), policy(), optional(), monitors(), documentation()],
  worker: { format: "es", plugins: () => [replacements()], rolldownOptions: { output: textLibraries } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: resolve(ROOT, "dist-web"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { host: "127.0.0.1", fs: { allow: [ROOT] } },
  preview: { host: "127.0.0.1" },
});
