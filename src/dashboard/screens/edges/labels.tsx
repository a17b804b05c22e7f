// The labels by which backends select tunnels.

import { Tag } from '../../ui/feedback/tag.tsx';
import type { FieldProps } from '../../ui/forms/field.tsx';
import { KeyValueField, type KeyValuePair, nonEmptyPairs } from '../../ui/forms/key-value-field.tsx';
import { allOf, maxBytes } from '../../ui/forms/validators.ts';

const LABELS_MAX = 16;

const noEqualsSign = (text: string) => (text.includes('=') ? 'The key must not contain “=”.' : null);
const given = (text: string) => (text === '' ? 'A value is needed.' : null);

export function LabelsField(field: FieldProps<readonly KeyValuePair[]>) {
  return (
    <KeyValueField
      {...field}
      itemName="label"
      titles={['Key', 'Value']}
      placeholders={['app', 'shop']}
      maxPairs={LABELS_MAX}
      validateName={allOf(maxBytes(255), noEqualsSign)}
      validateValue={allOf(given, maxBytes(255))}
      validate={(pairs) => (nonEmptyPairs(pairs).length === 0 ? 'At least one label is needed.' : null)}
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
