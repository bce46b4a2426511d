import { createRequire } from "node:module";
import hardhatIgnitionViem from "@nomicfoundation/hardhat-ignition-viem";
import hardhatMocha from "@nomicfoundation/hardhat-mocha";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatViem from "@nomicfoundation/hardhat-viem";
import hardhatViemAssertions from "@nomicfoundation/hardhat-viem-assertions";
import { configVariable, defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

// The WASM compiler inside the npm package `solc`: nothing is downloaded, and every machine
// compiles with the same bytes. `version` equals the package's version in package.json.
const solc = {
  version: "0.8.37",
  path: require.resolve("solc/soljson.js"),
  settings: { optimizer: { enabled: true, runs: 800 }, viaIR: true, evmVersion: "osaka" },
};

export default defineConfig({
  plugins: [hardhatIgnitionViem, hardhatMocha, hardhatNetworkHelpers, hardhatViem, hardhatViemAssertions],
  // Ignition builds with `production`: equal to `default`, so that tests and gas tables measure what gets deployed.
  solidity: { profiles: { default: { ...solc }, production: { ...solc } } },
  networks: {
    default: { type: "edr-simulated", chainType: "l1", hardfork: "osaka" },
    localhost: { type: "http", chainType: "l1", url: "http://127.0.0.1:8545" },
    // Any chain (docs/deploying.md). Both variables are read from the environment when this network is used.
    target: {
      type: "http",
      chainType: "generic",
      url: configVariable("REFUTE_DEPLOY_URL"),
      accounts: [configVariable("REFUTE_DEPLOY_KEY")],
    },
  },
  paths: { tests: { mocha: "./test", solidity: "./test/contracts/solidity" } },
  test: {
    mocha: { timeout: 120_000 },
    solidity: {
      fuzz: { runs: 256, seed: "0x6f6e6e78" },
      invariant: { runs: 64, depth: 64, failOnRevert: false },
    },
  },
});
