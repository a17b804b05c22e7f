// The fields for the description and metadata of an object.

import { TextArea, TextField } from './text-field.tsx';
import type { FieldBinding } from './use-form-fields.ts';
import { validateDescription, validateMetadata } from './validators.ts';

interface MetadataFieldsProps {
  bind: (name: 'description' | 'metadata') => FieldBinding<string>;
}

export function MetadataFields({ bind }: MetadataFieldsProps) {
  return (
    <>
      <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
      <TextArea
        {...bind('metadata')}
        label="Metadata"
        help="For machines: any text."
        rows={2}
        validate={validateMetadata}
        isCode
      />
    </>
  );
}
