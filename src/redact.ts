/** A text without what is secret of the URLs in it: a node's token is in its path, a password before its host. */
export const withoutPaths = (text: string): string =>
  text.replace(/\b(https?|wss?):\/\/[^\s"'`)]+/g, (url) => {
    if (!URL.canParse(url)) return "(a URL)";
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  });

/** A text of the command line's own making without what may be a private key given in the wrong place. */
export const withoutKeys = (text: string): string => text.replace(/[0-9a-f]{64,}/gi, "(64 hexadecimal digits)");
