// The labels by which backends choose tunnels.

import { Tag } from '../../ui/feedback/tag.tsx';
import type { FieldProps } from '../../ui/forms/field.tsx';
import { type Pair, PairsField, pairsOf } from '../../ui/forms/pairs-field.tsx';
import { all, atMost } from '../../ui/forms/validators.ts';

const LABELS_MAX = 16;

const noEqualsSign = (text: string) => (text.includes('=') ? 'The key must not contain “=”.' : null);
const given = (text: string) => (text === '' ? 'A value is needed.' : null);

export function LabelsField(field: FieldProps<readonly Pair[]>) {
  return (
    <PairsField
      {...field}
      line="label"
      titles={['Key', 'Value']}
      placeholders={['app', 'shop']}
      most={LABELS_MAX}
      checkName={all(atMost(255), noEqualsSign)}
      checkValue={all(given, atMost(255))}
      check={(pairs) => (pairsOf(pairs).length === 0 ? 'At least one label is needed.' : null)}
    />
  );
}

export function Labels({ labels }: { labels: Record<string, string> }) {
  return (
    <span class="tags">
      {Object.entries(labels).map(([key, value]) => (
        <Tag key={key}>
          {key}={value}
        </Tag>
      ))}
    </span>
  );
}

export function labelsText(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}
