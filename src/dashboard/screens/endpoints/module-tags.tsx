import { unsetOperations } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';

interface ModuleTagsProps {
  kind: keyof typeof unsetOperations;
  /** The edge or route, which has its modules as fields. */
  host: object;
}

/** The modules that are set, as tags. */
export function ModuleTags({ kind, host }: ModuleTagsProps) {
  const fields = new Map<string, { enabled: boolean } | null>(Object.entries(host));
  const set = Object.keys(unsetOperations[kind]).flatMap((field) => {
    const settings = fields.get(field);
    return settings ? [{ noun: nounOf(field), isOn: settings.enabled }] : [];
  });
  if (set.length === 0) return null;
  return (
    <p class="endpoint-modules">
      {set.map(({ noun, isOn }) => (
        <Tag key={noun}>{isOn ? noun : `${noun}: off`}</Tag>
      ))}
    </p>
  );
}

/** The words of a field's name. The module forms have better names, but this screen does not load their code. */
function nounOf(field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/\b(ip|tls|tcp)\b/g, (word) => word.toUpperCase());
}
