import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { documentation } from "./docs/render/plugin.ts";

const ROOT = resolve(import.meta.dirname, "..");
const HERE = import.meta.dirname;

/** Files of the sources that need Node, and what stands in their place in a page. */
const REPLACED = new Map(
  ["bytes", "hashKernel"].map((name) => [
    resolve(ROOT, `src/merkle/${name}.ts`),
    resolve(ROOT, `src/merkle/browser/${name}.ts`),
  ]),
);
/** Modules of Node, and the little of them that the compiler uses. */
const PLATFORM = new Map(["node:crypto", "node:os", "node:path"].map((name) => [name, name.slice("node:".length)]));

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

export default defineConfig({
  root: HERE,
  base: "./",
  cacheDir: resolve(ROOT, "node_modules/.vite-web"),
  plugins: [replacements(), policy(), documentation()],
  worker: { format: "es", plugins: () => [replacements()] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { outDir: resolve(ROOT, "dist-web"), emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false } },
  server: { host: "127.0.0.1", fs: { allow: [ROOT] } },
  preview: { host: "127.0.0.1" },
});
