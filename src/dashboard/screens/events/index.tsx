// Events: where they are delivered, and which.

import { Route, Router } from 'preact-iso/router';
import { NotThere } from '../../shell/not-there.tsx';
import { OneDeadLetter } from './destinations/dead-letter.tsx';
import { EditDestination, NewDestination } from './destinations/edit.tsx';
import { DestinationList } from './destinations/list.tsx';
import { OneDestination } from './destinations/one.tsx';
import './events.css';
import { SubscriptionList } from './subscriptions/list.tsx';
import { NewSubscription, OneSubscription } from './subscriptions/one.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={DestinationList} />
      <Route path="/destinations/new" component={NewDestination} />
      <Route path="/destinations/:id" component={OneDestination} />
      <Route path="/destinations/:id/edit" component={EditDestination} />
      <Route path="/destinations/:id/dead-letters/:letterId" component={OneDeadLetter} />
      <Route path="/subscriptions" component={SubscriptionList} />
      <Route path="/subscriptions/new" component={NewSubscription} />
      <Route path="/subscriptions/:id" component={OneSubscription} />
      <Route default component={NotThere} />
    </Router>
  );
}
