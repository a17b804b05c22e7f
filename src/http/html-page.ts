// Pages of the gateway's own, for people in a browser: of an error, of signing out, and those on which somebody agrees.

/** A page of the gateway's own, without scripts. @param title its heading, too; both are HTML. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem }
  h1 { font-size: 1.6rem; margin: 0 }
  code { opacity: .7 }
</style>
<h1>${title}</h1>
${body}
</html>
`;
}

/** A text as it can stand in HTML, in attributes as well. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
