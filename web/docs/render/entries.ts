import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { escapeMarkdown, indented } from "./markdown.ts";
import { ROOT } from "./root.ts";

/** The entries of the package that have more than data, and what each is for. */
const ENTRIES = {
  "refute/browser": "src/package/requester.ts",
  "refute/sdk": "src/package/sdk.ts",
  "refute/node": "src/package/node.ts",
};

type Declared = { name: string; text: string; comment: string };

const sourceOf = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.ES2023, true);

/**
 * What the entries of the package export: declarations without bodies, and their comments. Only the syntax is read, so
 * types that are inferred are not shown.
 */
export function entriesPage(): string {
  const sections = Object.entries(ENTRIES).map(([name, path]) => {
    const file = sourceOf(path);
    const about = commentOf(file.statements[0]!);
    // What an entry takes over from another one stands there.
    const declared = exportsOf(path, (target) => Object.values(ENTRIES).includes(target));
    const own = declared.map(({ name: each, text, comment }) =>
      [`### ${name.split("/")[1]}: ${each}`, indented(text), escapeMarkdown(comment)].join("\n\n"),
    );
    return [`## ${name}`, escapeMarkdown(about), ...own].join("\n\n");
  });
  const about =
    "Declarations and comments, from the sources. `refute/sdk` has all of `refute/browser` too; `refute/abi` has the " +
    "ABIs of the [contracts](contracts.md). [docs/sdk.md](docs/sdk.md) shows how they are used.";
  return ["# The package", about, ...sections].join("\n\n");
}

/** What a module exports, of itself and of others. @param isElsewhere Modules that are left out */
function exportsOf(path: string, isElsewhere: (path: string) => boolean): Declared[] {
  return sourceOf(path).statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement)) return declarationsOf(statement).filter(() => isExported(statement));
    const target = join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text);
    if (isElsewhere(target)) return [];
    const all = exportsOf(target, () => false);
    const { exportClause } = statement;
    if (exportClause === undefined) return all;
    const names = (exportClause as ts.NamedExports).elements.map(({ name }) => name.text);
    return names.flatMap((name) => all.filter((each) => each.name === name));
  });
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);

function declarationsOf(statement: ts.Statement): Declared[] {
  const comment = commentOf(statement);
  const declared = (name: string, text: string): Declared => ({ name, text, comment });
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((each) => declared(each.name.getText(), constantOf(each)));
  if (ts.isFunctionDeclaration(statement)) return [declared(statement.name!.text, withoutBody(statement))];
  if (ts.isClassDeclaration(statement)) return [declared(statement.name!.text, classOf(statement))];
  if (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement))
    return [declared(statement.name.text, withoutExport(statement.getText()))];
  return [];
}

const withoutExport = (text: string): string => text.replace(/^export /, "");

/** A function or a method without what it does. */
function withoutBody(node: ts.FunctionDeclaration | ts.MethodDeclaration | ts.ConstructorDeclaration): string {
  const text = node.getText();
  const end = node.body === undefined ? text.length : node.body.getStart() - node.getStart();
  return `${withoutExport(text.slice(0, end).trimEnd())};`;
}

/** A constant: a function by its parameters and result, anything else by its name and type. */
function constantOf({ name, type, initializer }: ts.VariableDeclaration): string {
  const own = `const ${name.getText()}`;
  if (type !== undefined) return `${own}: ${type.getText()};`;
  if (initializer === undefined || !ts.isArrowFunction(initializer)) return `${own};`;
  const parameters = initializer.parameters.map((parameter) => parameter.getText()).join(", ");
  return `${own}: (${parameters}) => ${initializer.type?.getText() ?? "…"};`;
}

/** A class by what others may use of it. */
function classOf(node: ts.ClassDeclaration): string {
  const isOpen = (member: ts.ClassElement): boolean =>
    !(member.name !== undefined && ts.isPrivateIdentifier(member.name)) &&
    !(
      ts.canHaveModifiers(member) && ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
    );
  const members = node.members.filter(isOpen).map((member) => {
    if (ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member)) return `  ${withoutBody(member)}`;
    if (ts.isGetAccessor(member)) return `  get ${member.name.getText()}(): ${member.type?.getText() ?? "…"};`;
    return `  ${member.getText().replace(/ = [^]*$/, ";")}`;
  });
  const heritage = node.heritageClauses?.map((clause) => ` ${clause.getText()}`).join("") ?? "";
  return [`class ${node.name!.text}${heritage} {`, ...members, "}"].join("\n");
}

/** The comment of a declaration on one line, its tags as sentences. */
function commentOf(node: ts.Node): string {
  const text = ts.getLeadingCommentRanges(node.getSourceFile().text, node.getFullStart())?.at(-1);
  if (text === undefined) return "";
  return node
    .getSourceFile()
    .text.slice(text.pos, text.end)
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\* ?/gm, "")
    .replace(/@(\w+)/g, "$1:")
    .trim();
}
