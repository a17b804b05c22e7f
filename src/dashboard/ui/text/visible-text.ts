// Makes characters visible that hide in texts of others: controls, zero-width characters, and those that turn the order
// of what follows. An address or a name could otherwise look like another one.

import { options } from 'preact';

/** Variation selectors belong to emoji. Joiners do, too, and to many scripts: only beside Latin text they hide. */
const HIDDEN = new RegExp(
  [
    String.raw`[[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]--[\t\n\r\u200c\u200d\p{Variation_Selector}]]`,
    String.raw`(?<=^|[\p{ASCII}\p{Script=Latin}])[\u200c\u200d]`,
    String.raw`[\u200c\u200d](?=$|[\p{ASCII}\p{Script=Latin}])`,
  ].join('|'),
  'gv',
);

/** The text with `⟨U+202E⟩` in place of a hidden character. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `⟨${codePoint(character)}⟩`);
}

/** The hidden characters of a text, each once: `U+202E`. */
export function hiddenCharacters(text: string): string[] {
  return [...new Set(text.match(HIDDEN) ?? [])].map(codePoint);
}

/** From now on every text on every screen is visible. The values of inputs stay as they are: they are sent. */
export function showHiddenCharacters(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // A text node has its text as its props.
    const node = vnode as unknown as { type: unknown; props: string | { title?: unknown } };
    if (typeof node.props === 'string') node.props = visibleText(node.props);
    else if (typeof node.type === 'string' && typeof node.props.title === 'string')
      node.props.title = visibleText(node.props.title);
    before?.(vnode);
  };
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
