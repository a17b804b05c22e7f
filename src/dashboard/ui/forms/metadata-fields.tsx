// What every object here can be noted with.

import { TextArea, TextField } from './text-field.tsx';
import type { Bound } from './use-form-fields.ts';
import { description, metadata } from './validators.ts';

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
