import { stringToHex, type Hex } from "viem";
import { z } from "zod/v4";
import { CollateralFormError } from "./errors.ts";
import type { EnclaveIdentity, SvnLevel, TcbInfo } from "../../chain/tdxStructs.ts";

/** The statuses of Intel's documents, in the contract's order. */
export const STATUSES = [
  "UpToDate",
  "SWHardeningNeeded",
  "ConfigurationNeeded",
  "ConfigurationAndSWHardeningNeeded",
  "OutOfDate",
  "OutOfDateConfigurationNeeded",
  "Revoked",
] as const;
export type PlatformStatus = (typeof STATUSES)[number];

const svn = z.number().int().min(0).max(255);
const date = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9A-Fa-f]{${2 * bytes}}$`));
const level = { tcbDate: date, tcbStatus: z.enum(STATUSES), advisoryIDs: z.array(z.string()).optional() };
const svnLevel = z.object({ tcb: z.object({ isvsvn: z.number().int().min(0).max(65_535) }), ...level });
const component = z.object({ svn }).passthrough();
const tcbInfoSchema = z.object({
  issueDate: date,
  nextUpdate: date,
  fmspc: hex(6),
  pceId: hex(2),
  tcbType: svn,
  tcbEvaluationDataNumber: z.number().int().min(1),
  tdxModuleIdentities: z.array(
    z.object({ id: z.string().regex(/^TDX_[0-9A-Fa-f]{2}$/), tcbLevels: z.array(svnLevel) }),
  ),
  tcbLevels: z
    .array(
      z.object({
        tcb: z.object({
          sgxtcbcomponents: z.array(component).length(16),
          pcesvn: z.number().int().min(0).max(65_535),
          tdxtcbcomponents: z.array(component).length(16),
        }),
        ...level,
      }),
    )
    .min(1),
});
const identitySchema = z.object({
  issueDate: date,
  nextUpdate: date,
  tcbEvaluationDataNumber: z.number().int().min(1),
  miscselect: hex(4),
  miscselectMask: hex(4),
  attributes: hex(16),
  attributesMask: hex(16),
  mrsigner: hex(32),
  isvprodid: z.number().int().min(0).max(65_535),
  tcbLevels: z.array(svnLevel),
});

/** Reads the text of a TCB info for TDX into the contract's form. @throws CollateralFormError */
export function readTcbInfo(text: string, name = "the TCB info"): TcbInfo {
  const from = parse(text, tcbInfoSchema, name);
  const components = [...from.tcbLevels[0]!.tcb.sgxtcbcomponents, ...from.tcbLevels[0]!.tcb.tdxtcbcomponents];
  const svns = (list: { svn: number }[]): Hex => `0x${list.map((c) => byte(c.svn)).join("")}`;
  const info: TcbInfo = {
    issueDate: dateHex(from.issueDate),
    nextUpdate: dateHex(from.nextUpdate),
    fmspc: `0x${from.fmspc.toLowerCase()}`,
    pceId: `0x${from.pceId}`,
    tcbType: from.tcbType,
    number: from.tcbEvaluationDataNumber,
    modules: from.tdxModuleIdentities.map(({ id, tcbLevels }) => ({
      version: Number.parseInt(id.slice(4), 16),
      levels: tcbLevels.map(svnLevelOf),
    })),
    labels: components.map((c) => aside({ ...c, svn: undefined })) as unknown as TcbInfo["labels"],
    levels: from.tcbLevels.map((given) => ({
      svns: svns(given.tcb.sgxtcbcomponents),
      pceSvn: given.tcb.pcesvn,
      tdxSvns: svns(given.tcb.tdxtcbcomponents),
      ...endOf(given),
    })),
    lowerCase: [],
  };
  return withLetters(info, tcbInfoText, text, name);
}

/** Reads the identity text for Intel's quoting enclave for TDX. @throws CollateralFormError */
export function readEnclaveIdentity(text: string, name = "the enclave's identity"): EnclaveIdentity {
  const from = parse(text, identitySchema, name);
  const identity: EnclaveIdentity = {
    issueDate: dateHex(from.issueDate),
    nextUpdate: dateHex(from.nextUpdate),
    number: from.tcbEvaluationDataNumber,
    miscselect: `0x${from.miscselect}`,
    miscselectMask: `0x${from.miscselectMask}`,
    attributes: `0x${from.attributes}`,
    attributesMask: `0x${from.attributesMask}`,
    mrsigner: `0x${from.mrsigner}`,
    product: from.isvprodid,
    levels: from.tcbLevels.map(svnLevelOf),
    lowerCase: [],
  };
  return withLetters(identity, identityText, text, name);
}

/** Returns a TCB info's JSON, exactly as contracts/attestation/tdx/DocumentText.sol writes it. */
export function tcbInfoText(info: TcbInfo): string {
  const signer = `"mrsigner":"${"0".repeat(96)}","attributes":"${"0".repeat(16)}","attributesMask":"${"F".repeat(16)}"`;
  const modules = info.modules.map(
    ({ version, levels }) => `{"id":"TDX_${byte(version)}",${signer},${svnLevelsText(levels)}}`,
  );
  const components = (svns: Hex, first: number): string =>
    Array.from({ length: 16 }, (_, k) => {
      const value = Number.parseInt(svns.slice(2 + 2 * k, 4 + 2 * k), 16);
      return `{"svn":${value}${info.labels[first + k]}}`;
    }).join(",");
  const levels = info.levels.map(
    (l) =>
      `{"tcb":{"sgxtcbcomponents":[${components(l.svns, 0)}],"pcesvn":${l.pceSvn},` +
      `"tdxtcbcomponents":[${components(l.tdxSvns, 16)}]${endText(l)}`,
  );
  return lowered(
    info,
    `{"id":"TDX","version":3,${datesText(info)},"fmspc":"${upper(info.fmspc)}","pceId":"${upper(info.pceId)}",` +
      `"tcbType":${info.tcbType},"tcbEvaluationDataNumber":${info.number},"tdxModule":{${signer}},` +
      `"tdxModuleIdentities":[${modules.join(",")}],"tcbLevels":[${levels.join(",")}]}`,
  );
}

/** Returns an enclave identity's JSON, exactly as contracts/attestation/tdx/DocumentText.sol writes it. */
export const identityText = (i: EnclaveIdentity): string =>
  lowered(
    i,
    `{"id":"TD_QE","version":2,${datesText(i)},"tcbEvaluationDataNumber":${i.number},` +
      `"miscselect":"${upper(i.miscselect)}","miscselectMask":"${upper(i.miscselectMask)}",` +
      `"attributes":"${upper(i.attributes)}","attributesMask":"${upper(i.attributesMask)}",` +
      `"mrsigner":"${upper(i.mrsigner)}","isvprodid":${i.product},${svnLevelsText(i.levels)}}`,
  );

/** Writes the hexadecimal digits at a document's places in lower case. */
function lowered({ lowerCase }: { lowerCase: readonly number[] }, text: string): string {
  const bytes = Buffer.from(text);
  for (const place of lowerCase) bytes[place]! |= 0x20;
  return bytes.toString();
}

/**
 * Returns a document with the places of the hexadecimal digits that the signed text has in lower case.
 * @throws CollateralFormError if the contract would still write another text
 */
function withLetters<T>(document: T, textOf: (of: T) => string, text: string, name: string): T {
  const given = Buffer.from(text);
  const lowerCase = [...Buffer.from(textOf(document))].flatMap((letter, place) =>
    letter >= 0x41 && letter <= 0x46 && given[place] === (letter | 0x20) ? [place] : [],
  );
  const found = { ...document, lowerCase };
  requireSame(textOf(found), text, name);
  return found;
}

const svnLevelsText = (levels: readonly SvnLevel[]): string =>
  `"tcbLevels":[${levels.map((l) => `{"tcb":{"isvsvn":${l.svn}${endText(l)}`).join(",")}]`;

const endText = ({ date: day, status, rest }: { date: Hex; status: number; rest: string }): string =>
  `},"tcbDate":"${textOf(day)}","tcbStatus":"${STATUSES[status]}"${rest}}`;

const datesText = ({ issueDate, nextUpdate }: { issueDate: Hex; nextUpdate: Hex }): string =>
  `"issueDate":"${textOf(issueDate)}","nextUpdate":"${textOf(nextUpdate)}"`;

type Level = { tcbDate: string; tcbStatus: PlatformStatus; advisoryIDs?: string[] | undefined };

const svnLevelOf = (given: Level & { tcb: { isvsvn: number } }): SvnLevel => ({
  svn: given.tcb.isvsvn,
  ...endOf(given),
});

const endOf = ({ tcbDate, tcbStatus, advisoryIDs }: Level) => ({
  date: dateHex(tcbDate),
  status: STATUSES.indexOf(tcbStatus),
  rest: advisoryIDs === undefined ? "" : aside({ advisoryIDs }),
});

/** Returns the JSON of an object's fields after a comma. Returns an empty text if the object has no fields. */
function aside(fields: object): string {
  const inner = JSON.stringify(fields).slice(1, -1);
  return inner === "" ? "" : `,${inner}`;
}

function parse<T>(text: string, schema: z.ZodType<T>, name: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CollateralFormError(`${name}: not JSON`, { cause });
  }
  const { data, error } = schema.safeParse(json);
  if (data !== undefined) return data;
  const where = error!.issues.map((issue) => issue.path.join(".") || "the whole").join(", ");
  throw new CollateralFormError(`${name}: not the document that was expected (${where})`);
}

/** Requires the contract's text to equal the text that Intel signed. @throws CollateralFormError */
function requireSame(written: string, given: string, name: string): void {
  if (written === given) return;
  let first = 0;
  while (written[first] === given[first]) ++first;
  throw new CollateralFormError(`${name}: has a form that the contract does not write, from character ${first} on`);
}

const byte = (value: number): string => value.toString(16).toUpperCase().padStart(2, "0");
const upper = (value: Hex): string => value.slice(2).toUpperCase();
const dateHex = (text: string): Hex => stringToHex(text);
const textOf = (value: Hex): string => Buffer.from(value.slice(2), "hex").toString("latin1");
