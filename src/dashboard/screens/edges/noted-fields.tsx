// What every object here can be noted with.

import type { Bound } from '../../data/use-fields.ts';
import { description, metadata } from '../../ui/checks.ts';
import { TextArea, TextField } from '../../ui/text-field.tsx';

interface NotedFieldsProps {
  bind: (name: 'description' | 'metadata') => Bound<string>;
}

export function NotedFields({ bind }: NotedFieldsProps) {
  return (
    <>
      <TextField {...bind('description')} label="Description" help="For people." check={description} />
      <TextArea
        {...bind('metadata')}
        label="Metadata"
        help="For machines: any text."
        rows={2}
        check={metadata}
        isCode
      />
    </>
  );
}
