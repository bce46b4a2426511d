import { createRequire } from "node:module";
import { defineConfig } from "hardhat/config";

/** The compiler comes from npm, so that nothing else is fetched. */
const compiler = createRequire(import.meta.url).resolve("solc/soljson.js");

export default defineConfig({
  solidity: {
    version: "0.8.37",
    path: compiler,
    npmFilesToBuild: [],
    settings: { optimizer: { enabled: true }, evmVersion: "osaka" },
  },
});
