// Plain Node, no dependency: the compiled contracts that come with the repository, so that the first start compiles
// nothing.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** The file: JSON with the hash and the artifacts, compressed. */
export const PACKED = "ignition/artifacts.br";
/** Where Hardhat notes its own builds. */
const BUILT = "cache/compile-cache.json";
/** The compiler's settings. The hash takes their text, because plain Node cannot evaluate them. */
const SETTINGS = ["hardhat.config.ts", "tools/verify/builds/build.ts"];
/** The compiler, and the sources that contracts import. The lock file has a hash of each package's contents. */
const PACKAGES = ["solc", "@openzeppelin/contracts"];

/** The path of an artifact in the folder of Hardhat. */
const artifactPath = (source, name) => join("artifacts", source, `${name}.json`);

/**
 * SHA-256 over everything that decides the compiled code. It covers all sources in `contracts`: the compiler takes them
 * together, and each source can change the order of functions.
 */
export function sourcesHash(root = ".") {
  const hash = createHash("sha256");
  const add = (name, contents) => hash.update(`${name} ${Buffer.byteLength(contents)}\n`).update(contents);
  const contracts = readdirSync(join(root, "contracts"), { recursive: true })
    .map((name) => `contracts/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".sol"));
  for (const file of [...contracts.sort(), ...SETTINGS]) add(file, readFileSync(join(root, file)));
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  for (const name of PACKAGES) add(name, packages[`node_modules/${name}`].integrity);
  return hash.digest("hex");
}

/** JSON in as few bytes as Brotli can. */
export function compressed(value) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(JSON.stringify(value), { params });
}

/** Artifacts as the bytes of the file. */
export const packArtifacts = (hash, artifacts) => compressed({ hash, artifacts });

/** The hash and the artifacts that the file has. */
export const readPacked = (root = ".") => JSON.parse(brotliDecompressSync(readFileSync(join(root, PACKED))));

/**
 * Writes the packed artifacts to Hardhat's folder if they were compiled from the present sources. After a build of
 * Hardhat nothing is written: Hardhat would take the packed artifacts for its own.
 * @returns Whether the artifacts are written.
 */
export function unpackArtifacts(root = ".") {
  if (existsSync(join(root, BUILT))) return false;
  const { hash, artifacts } = readPacked(root);
  if (hash !== sourcesHash(root)) return false;
  for (const artifact of artifacts) {
    const path = join(root, artifactPath(artifact.sourceName, artifact.contractName));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(artifact));
  }
  return true;
}
