/** A text whose URLs are cut to protocol and host: a node's token is in the path, a password before the host. */
export const withoutPaths = (text: string): string =>
  text.replace(/\b(https?|wss?):\/\/[^\s"'`)]+?(?=[.,:;!?]*(?:[\s"'`)]|$))/g, (url) => {
    if (!URL.canParse(url)) return "(a URL)";
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  });

/**
 * Returns command-line text without long hexadecimal numbers: a number may be a private key given in the wrong place.
 */
export const withoutKeys = (text: string): string => text.replace(/[0-9a-f]{64,}/gi, "(64 hexadecimal digits)");
