import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { TextField } from '../forms/text-field.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmProps {
  /** The question: `Delete this credential?` */
  title: string;
  /** What will happen, and to whom. */
  children: ComponentChildren;
  /** What has to be typed. Left out where it can be undone or little is lost. */
  name?: string;
  /** What the button says: `Delete the credential`. */
  action: string;
  error?: ApiFailure;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that can't be undone; with `name` only who types it can go on. */
export function Confirm({ title, children, name, action, error, isBusy, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const isSure = name === undefined || typed.trim() === name;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isSure && !isBusy) onConfirm();
        }}
      >
        {children}
        {name !== undefined && (
          <TextField name="confirmation" label={`Type “${name}” to confirm`} value={typed} onChange={setTyped} />
        )}
        <ErrorNote error={error} />
        <div class="form-foot">
          <Button type="submit" look="danger" isBusy={isBusy} isDisabled={!isSure}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
