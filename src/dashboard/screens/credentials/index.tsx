import { Route, Router } from 'preact-iso/router';
import './credentials.css';
import { EditCredential } from './edit.tsx';
import { CredentialList } from './list.tsx';
import { NewCredential } from './new.tsx';
import { CredentialPage } from './one.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={CredentialList} />
      <Route path="/new" component={NewCredential} />
      <Route path="/:id" component={CredentialPage} />
      <Route path="/:id/edit" component={EditCredential} />
    </Router>
  );
}
