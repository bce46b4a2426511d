/** Writes ignition/artifacts.br, so that `npm start` compiles nothing. test/deploy/packedArtifacts.test.ts compares. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readOptions } from "../options.ts";
import { PACKED, packArtifacts, sourcesHash } from "../setup/contracts.mjs";
import { builtArtifacts } from "./builtArtifacts.ts";

readOptions({});
// A build after an edit compiles the edited files only. Their code can differ from that of a build of all files.
execFileSync("hardhat", ["build", "--quiet", "--no-tests", "--force"], { stdio: "inherit" });
writeFileSync(PACKED, packArtifacts(sourcesHash(), builtArtifacts()));
