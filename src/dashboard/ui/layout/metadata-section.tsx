import { Section } from './page.tsx';

/** Metadata as its owner wrote it: text, whatever is in it. */
export function MetadataSection({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <Section title="Metadata">
      <pre class="text-of-others">{text}</pre>
    </Section>
  );
}
