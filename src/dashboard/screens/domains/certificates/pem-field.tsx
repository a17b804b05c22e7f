import { useRef } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import type { FieldProps } from '../../../ui/forms/field.tsx';
import { TextArea } from '../../../ui/forms/text-field.tsx';

/** A field for PEM text, which is pasted or read from a file. */
export function PemField(field: FieldProps<string>) {
  const file = useRef<HTMLInputElement>(null);
  return (
    <div class="pem">
      <TextArea {...field} rows={4} isCode placeholder="-----BEGIN …" />
      <input
        ref={file}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        accept=".pem,.crt,.cer,.key,.txt"
        onChange={async (event) => {
          const input = event.currentTarget;
          const text = await input.files?.[0]?.text();
          if (text !== undefined) field.onChange(text);
          input.value = '';
        }}
      />
      <div class="actions">
        <Button label={`${field.label}: from a file`} onClick={() => file.current?.click()}>
          From a file …
        </Button>
      </div>
    </div>
  );
}
