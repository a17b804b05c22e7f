// The page that lists a directory.

import { readdir } from 'node:fs/promises';

/** @param path the directory. @param title its path in the URL, decoded. Hidden names are left out. */
export async function directoryPage(path: string, title: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  const items = [...(title === '/' ? [] : ['../']), ...names].map(
    // With "./", a name with a colon is no scheme.
    (name) => `<li><a href="./${encodeURIComponent(name).replace(/%2F$/, '/')}">${escapeHtml(name)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<h1>${escapeHtml(title)}</h1>
<ul>
${items.join('\n')}
</ul>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
