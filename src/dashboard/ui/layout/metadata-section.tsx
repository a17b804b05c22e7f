import { Section } from './page.tsx';

/** Shows metadata as plain text, whatever it contains. */
export function MetadataSection({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <Section title="Metadata">
      <pre class="user-text">{text}</pre>
    </Section>
  );
}
