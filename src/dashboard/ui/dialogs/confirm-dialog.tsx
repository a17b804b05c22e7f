import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { TextField } from '../forms/text-field.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmDialogProps {
  /** The question: `Delete this credential?` */
  title: string;
  /** The consequences. */
  children: ComponentChildren;
  /** A text that the user has to type. Leave it out where the action can be undone or loses little. */
  typeToConfirm?: string;
  /** The label of the button: `Delete the credential`. */
  confirmLabel: string;
  /** The label of the other button; the default is `Cancel`. */
  cancelLabel?: string;
  error?: ApiFailure;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  typeToConfirm,
  confirmLabel,
  cancelLabel = 'Cancel',
  error,
  isBusy,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  const [typed, setTyped] = useState('');
  const isConfirmed = typeToConfirm === undefined || typed.trim() === typeToConfirm;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed && !isBusy) onConfirm();
        }}
      >
        {children}
        {typeToConfirm !== undefined && (
          <TextField
            name="confirmation"
            label={`Type “${typeToConfirm}” to confirm`}
            value={typed}
            onChange={setTyped}
          />
        )}
        <ErrorNote error={error} />
        <div class="form-footer">
          <Button type="submit" variant="danger" isBusy={isBusy} isDisabled={!isConfirmed}>
            {confirmLabel}
          </Button>
          <Button onClick={onClose}>{cancelLabel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
