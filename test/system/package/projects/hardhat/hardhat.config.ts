import { createRequire } from "node:module";
import { defineConfig } from "hardhat/config";

// The compiler inside the npm package `solc`: nothing is downloaded.
const path = createRequire(import.meta.url).resolve("solc/soljson.js");

export default defineConfig({ solidity: { version: "0.8.37", path } });
