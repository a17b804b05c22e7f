// DNS records that a name needs, and what was found in their place.

import type { RecordCheckFragment } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';

const STATES = {
  OK: { variant: 'good', word: 'right' },
  MISSING: { variant: 'warn', word: 'missing' },
  WRONG: { variant: 'bad', word: 'wrong' },
  UNKNOWN: { variant: 'plain', word: 'not known' },
} as const;

export function RecordList({ records }: { records: readonly RecordCheckFragment[] }) {
  if (records.length === 0) return null;
  return (
    <ul class="records">
      {records.map((record) => (
        <RecordItem key={record.name} record={record} />
      ))}
    </ul>
  );
}

function RecordItem({ record: { type, name, expected, state, found, message } }: { record: RecordCheckFragment }) {
  const { variant, word } = STATES[state];
  return (
    <li class="record">
      <div class="record-header">
        <Tag variant={variant}>{word}</Tag>
        <strong>{type}</strong>
      </div>
      <dl>
        <dt>Name</dt>
        <dd>
          <CopyButton text={name} label="the record’s name" />
        </dd>
        <dt>Value</dt>
        <dd>
          <CopyButton text={expected} label="the record’s value" />
        </dd>
        {(state === 'WRONG' || state === 'MISSING') && (
          <>
            <dt>Found</dt>
            <dd>
              <code>{found.join(', ') || 'nothing'}</code>
            </dd>
          </>
        )}
      </dl>
      {state !== 'OK' && <p class="muted">{message}</p>}
    </li>
  );
}
